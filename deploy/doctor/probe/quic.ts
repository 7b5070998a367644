import { randomBytes } from "node:crypto";
import { createSocket } from "node:dgram";

/** A version that exists to provoke version negotiation: https://www.rfc-editor.org/rfc/rfc9000#section-15 */
const RESERVED_VERSION = 0x1a2a3a4a;

/** A server must answer no smaller datagram: https://www.rfc-editor.org/rfc/rfc9000#section-14.1 */
const DATAGRAM_BYTES = 1200;

/**
 * Returns whether a QUIC server answers at this UDP port: to a version that it cannot know it must answer with the ones it
 * knows (https://www.rfc-editor.org/rfc/rfc9000#section-6.1). Asks `tries` times, a second apart. Rejects if the name does not resolve.
 */
export function answersQuic(host: string, port: number, tries = 5): Promise<boolean> {
  const packet = Buffer.alloc(DATAGRAM_BYTES);
  packet[0] = 0xc0;
  packet.writeUInt32BE(RESERVED_VERSION, 1);
  packet[5] = 8;
  randomBytes(8).copy(packet, 6);
  packet[14] = 8;
  randomBytes(8).copy(packet, 15);
  return new Promise((resolve, reject) => {
    const socket = createSocket(host.includes(":") ? "udp6" : "udp4");
    let sent = 0;
    const end = (answered: boolean) => {
      clearInterval(timer);
      socket.close();
      resolve(answered);
    };
    const fail = (error: Error) => {
      clearInterval(timer);
      socket.close();
      reject(error);
    };
    const send = () => {
      if (sent++ === tries) end(false);
      else socket.send(packet, port, host, (error) => error && fail(error));
    };
    const timer = setInterval(send, 1_000);
    // An ICMP error, which says that nothing listens.
    socket.on("error", () => end(false));
    socket.on("message", (answer) => {
      if (answer.length > 5 && (answer[0] ?? 0) & 0x80 && answer.readUInt32BE(1) === 0) end(true);
    });
    send();
  });
}
