// Stores Next's prerendered pages and cached fetches (ISR). With CACHE_URL all replicas share one Valkey (or Redis); without it each
// replica has Next's own cache. Next loads this file, not the app.
// https://nextjs.org/docs/app/api-reference/config/next-config-js/incrementalCacheHandlerPath
import ownCache from "next/dist/server/lib/incremental-cache/file-system-cache.js";

const CACHE_TIMEOUT_MS = 500; // after this, the page is rendered again without the cache

/**
 * Takes the address redis[s]://[user@]host[:port] and its password, if any. Returns Next's cache handler class.
 * Never throws and never waits for a connection: without one, every lookup is a miss.
 */
async function sharedCache(url, password) {
  const [{ CacheHandler }, { default: entries }, { withAbortSignalProxy }, { createClient }] = await Promise.all([
    import("@fortedigital/nextjs-cache-handler"),
    import("@fortedigital/nextjs-cache-handler/redis-strings"),
    import("@fortedigital/nextjs-cache-handler/helpers/withAbortSignalProxy"),
    import("@redis/client"),
  ]);
  const client = createClient({
    url,
    password,
    disableOfflineQueue: true,
    // Also detects a server that disappeared without closing the connection.
    pingInterval: 1_000,
    socket: { connectTimeout: 1_000, socketTimeout: 2_000, reconnectStrategy: (tries) => Math.min(100 * tries, 2_000) },
  });
  let down = false;
  const log = (isDown, message) => {
    if (isDown !== down) console.error(`culvert web: the shared cache ${message}`);
    down = isDown;
  };
  client.on("error", ({ message }) => log(true, `is unavailable (${message}): pages are rendered without it`));
  client.on("ready", () => log(false, "is available again"));
  client.connect().catch(() => {});
  // Each release has its own cache, because its pages refer to its own files and actions.
  CacheHandler.onCreation(({ buildId }) => ({
    // The client's own abort signal only cancels commands that are not sent yet; this wrapper also stops waiting for a reply.
    handlers: [
      entries({ client: withAbortSignalProxy(client), keyPrefix: `${buildId}:`, timeoutMs: CACHE_TIMEOUT_MS }),
    ],
  }));
  return CacheHandler;
}

const { CACHE_URL, CACHE_PASSWORD } = process.env;
export default CACHE_URL ? await sharedCache(CACHE_URL, CACHE_PASSWORD || undefined) : ownCache.default;
