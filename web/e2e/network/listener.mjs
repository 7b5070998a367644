// Runs in a network namespace of its own: sets up a network that never changes, and passes connections to 127.0.0.1:PORT
// to the parent process, which is outside. Usage: listener.mjs PORT
import { execFileSync } from "node:child_process";
import { createServer } from "node:net";

const ip = (command) => execFileSync("ip", command.split(" "));
ip("link set lo up");
// With only the loopback, Chromium assumes that it is offline.
ip("link add browser type veth peer name nowhere");
ip("address add 192.0.2.1/24 dev browser");
for (const end of ["nowhere", "browser"]) {
  // An IPv6 address would be assigned a second later, which is a change.
  ip(`link set ${end} addrgenmode none`);
  ip(`link set ${end} up`);
}

const server = createServer({ pauseOnConnect: true }, (socket) => process.send("socket", socket));
server.listen(Number(process.argv[2]), "127.0.0.1", () => process.send("ready"));
process.on("disconnect", () => process.exit());
