// What Nginx's own counters do not survive: a worker that was killed. Runs inside Nginx (njs).

import fs from "fs";

/** Ports 8443 and 8080, as /proc/net/tcp writes local ports; state 01 is ESTABLISHED. https://docs.kernel.org/networking/proc_net_tcp.html */
const publicConnection = /^ *\d+: [0-9A-F]+:(?:20FB|1F90) \S+ 01 /gm;

/**
 * @param {number} pid
 * @returns {boolean} whether a process with this number runs
 */
function runs(pid) {
  try {
    fs.accessSync(`/proc/${pid}`);
    return true;
  } catch (_) {
    return false;
  }
}

/**
 * Periodic: remembers this worker, and counts the death of the one before it, whose number Nginx gives to its replacement. The
 * configuration of a reload has another generation (entrypoint.d/65-watch-workers.sh): the one before has ended, or will, in good order.
 * @param {{ variables: { generation?: string } }} session
 */
function noteStart(session) {
  const workers = ngx.shared.workers;
  const pid = `pid_${ngx.worker_id}`;
  const generation = `generation_${ngx.worker_id}`;
  const before = workers.get(pid);
  if (before === process.pid) return;
  const reloaded = workers.get(generation) !== Number(session.variables.generation);
  workers.set(pid, process.pid);
  workers.set(generation, Number(session.variables.generation));
  if (before !== undefined && !reloaded && !runs(Number(before))) workers.incr("deaths", 1, 0);
}

/**
 * @returns {number} how many workers have died since this container started
 */
function deaths() {
  return Number(ngx.shared.workers.get("deaths") || 0);
}

/**
 * Counts the established connections of clients. Nginx's `$connections_active` counts those of a dead worker forever.
 * @param {string} sockets the content of /proc/net/tcp
 * @returns {number}
 */
function countConnections(sockets) {
  return (sockets.match(publicConnection) || []).length;
}

/**
 * @returns {number} established connections of clients; a listener of IPv4 has them all
 */
function connections() {
  return countConnections(fs.readFileSync("/proc/net/tcp", "utf8"));
}

export default { connections, countConnections, deaths, noteStart };
