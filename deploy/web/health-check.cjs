// The health check of web, for any app and any version of Node: `make settings` writes it into the compose files. The argument is the default
// of HEALTH_PATH. It prints a code, for `diagnose` of deploy/lib.sh, and a text.
const { mkdirSync } = require("node:fs");
const { get } = require("node:http");
const { networkInterfaces } = require("node:os");

const path = (process.env.BASE_PATH || "") + (process.env.HEALTH_PATH || process.argv.slice(-1)[0]);
// Not sampled (-0), so that Sentry's SDK in the app records nothing.
const headers = { "sentry-trace": "0123456789abcdef0123456789abcdef-0123456789abcdef-0" };
// Where the proxy asks: not at 127.0.0.1.
const isOwn = ({ internal, address }) => !internal && address.includes(".");
const addresses = Object.values(networkInterfaces()).flat().filter(isOwn);

function ask({ address: host }) {
  return new Promise((resolve) => {
    const request = get({ host, port: 3000, path, headers, timeout: 4000 }, ({ statusCode }) => {
      resolve({ host, code: statusCode < 500 ? "http-ok" : "http-error", said: `status ${statusCode}` });
      request.destroy();
    });
    request.on("timeout", () => request.destroy(Error("no answer within 4 s")));
    request.on("error", ({ code, message }) => {
      const problem = code ? "broken" : "slow";
      resolve({ host, code: code === "ECONNREFUSED" ? "refused" : problem, said: message || code });
    });
  });
}

// The first check waits for an answer, until START_TIMEOUT: an app may migrate its data before it listens.
let isFirst = true;
try {
  mkdirSync("/tmp/.culvert-health");
} catch {
  isFirst = false;
}

async function check() {
  const answers = await Promise.all(addresses.map(ask));
  const worst = answers.find(({ code }) => code !== "http-ok") || answers[0];
  const listens = ({ code }) => code !== "refused";
  const other = !listens(worst) && [...answers, await ask({ address: "localhost" })].find(listens);
  if (isFirst && !other && /^(refused|slow)$/.test(worst.code)) return setTimeout(check, 2000);
  const where = other ? `, but ${other.host}:3000 listens` : "";
  console.log(`${other ? "elsewhere" : worst.code} GET ${path}: ${worst.said}${where}`);
  process.exitCode = worst.code === "http-ok" ? 0 : 1;
}

check();
