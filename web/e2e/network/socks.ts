import { connect, type Socket } from "node:net";

// https://www.rfc-editor.org/rfc/rfc1928
const version = 5;
const commandConnect = 1;
const addressType = { ipv4: 1, name: 3 };
const reply = { succeeded: 0, refused: 5, notSupported: 7 };

/** Resolves with the next message of a client; a SOCKS message is small enough to arrive in one chunk. */
const message = (client: Socket) => new Promise<Buffer>((resolve) => client.once("data", resolve));

const answer = (code: number) => Buffer.from([version, code, 0, addressType.ipv4, 0, 0, 0, 0, 0, 0]);

/** The host and port that a request names; undefined for anything but a connection to a name or an IPv4 address. */
export function targetOf(request: Buffer): { host: string; port: number } | undefined {
  if (request[0] !== version || request[1] !== commandConnect) return undefined;
  if (request[3] === addressType.ipv4)
    return { host: [...request.subarray(4, 8)].join("."), port: request.readUInt16BE(8) };
  if (request[3] !== addressType.name) return undefined;
  const end = 5 + (request[4] ?? 0);
  return { host: request.subarray(5, end).toString(), port: request.readUInt16BE(end) };
}

/** Serves one SOCKS 5 client without authentication. It connects to this machine's loopback only. */
export async function serve(client: Socket): Promise<void> {
  client.on("error", () => client.destroy());
  await message(client);
  client.write(Buffer.from([version, 0]));
  const target = targetOf(await message(client));
  if (!target || !["localhost", "127.0.0.1"].includes(target.host)) {
    client.end(answer(reply.notSupported));
    return;
  }
  const server = connect({ ...target, host: "127.0.0.1" });
  server.on("connect", () => {
    client.write(answer(reply.succeeded));
    client.pipe(server).pipe(client);
  });
  server.on("error", () =>
    server.bytesRead + server.bytesWritten > 0 ? client.destroy() : client.end(answer(reply.refused)),
  );
  client.on("close", () => server.destroy());
  server.on("close", () => client.destroy());
}
