// Where Next keeps pages and data that are built ahead (ISR, cached fetches). All replicas share one Valkey (or Redis) where
// CACHE_URL names it; without CACHE_URL this is Next's own, each replica by itself. Next loads this file, not the app.
// https://nextjs.org/docs/app/api-reference/config/next-config-js/incrementalCacheHandlerPath
import ownCache from "next/dist/server/lib/incremental-cache/file-system-cache.js";

const PATIENCE_MS = 500; // a page waits no longer for the cache: it can be made anew

/**
 * Takes the address redis[s]://[user@]host[:port] and its password, if it has one. Returns the class that Next asks for
 * entries. Never throws and never waits for a connection: while there is none, every entry counts as missing.
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
    // Notices also one that is gone without a word.
    pingInterval: 1_000,
    socket: { connectTimeout: 1_000, socketTimeout: 2_000, reconnectStrategy: (tries) => Math.min(100 * tries, 2_000) },
  });
  let away = false;
  const say = (isAway, words) => {
    if (isAway !== away) console.error(`culvert web: the shared cache ${words}`);
    away = isAway;
  };
  client.on("error", ({ message }) => say(true, `does not answer (${message}): pages are made anew until it does`));
  client.on("ready", () => say(false, "answers again"));
  client.connect().catch(() => {});
  // Two releases are two caches: a page of the old one refers to files and actions of its own.
  CacheHandler.onCreation(({ buildId }) => ({
    // The client's own signal gives up only what it has not sent yet; the proxy's gives up waiting as well.
    handlers: [entries({ client: withAbortSignalProxy(client), keyPrefix: `${buildId}:`, timeoutMs: PATIENCE_MS })],
  }));
  return CacheHandler;
}

const { CACHE_URL, CACHE_PASSWORD } = process.env;
export default CACHE_URL ? await sharedCache(CACHE_URL, CACHE_PASSWORD || undefined) : ownCache.default;
