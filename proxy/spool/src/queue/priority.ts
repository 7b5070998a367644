/**
 * The priority of each of Sentry's data categories, highest first: the order of delivery, and the reverse order of eviction. Each
 * entry: the envelope items of the category, and the names by which an ingest's rate limits apply to it.
 * https://develop.sentry.dev/sdk/foundations/transport/rate-limiting/
 */
const categories: { priority: number; category: string; items: string[]; limitedBy: string[] }[] = [
  { priority: 0, category: "error", items: ["event"], limitedBy: ["error"] },
  { priority: 0, category: "monitor", items: ["check_in"], limitedBy: ["monitor"] },
  { priority: 1, category: "feedback", items: ["feedback", "user_report"], limitedBy: ["feedback"] },
  { priority: 1, category: "attachment", items: ["attachment"], limitedBy: ["attachment"] },
  { priority: 2, category: "log_item", items: ["log", "otel_log"], limitedBy: ["log_item", "log_byte"] },
  { priority: 2, category: "trace_metric", items: ["trace_metric", "metric"], limitedBy: ["trace_metric"] },
  { priority: 2, category: "security", items: ["raw_security", "nel"], limitedBy: ["security"] },
  { priority: 2, category: "internal", items: ["client_report"], limitedBy: ["internal"] },
  // Categories that Sentry adds later: evicted only after everything that is known to be bulk.
  { priority: 2, category: "default", items: [], limitedBy: ["default"] },
  { priority: 3, category: "session", items: ["session", "sessions"], limitedBy: ["session"] },
  { priority: 4, category: "transaction", items: ["transaction"], limitedBy: ["transaction", "transaction_processed"] },
  { priority: 4, category: "span", items: ["span", "otel_span"], limitedBy: ["span"] },
  {
    priority: 5,
    category: "profile",
    items: ["profile", "profile_chunk"],
    limitedBy: ["profile", "profile_chunk", "profile_chunk_ui"],
  },
  {
    priority: 6,
    category: "replay",
    items: ["replay_event", "replay_recording", "replay_video"],
    limitedBy: ["replay"],
  },
];

const byName = new Map(categories.map((entry, rank) => [entry.category, { ...entry, rank }]));
const categoryOfItem = new Map(
  categories.flatMap(({ category, items }) => items.map((item) => [item, category] as const)),
);

/** The category of an envelope without items. */
export const defaultCategory = "default";

/** The priority of a category; 0 is the highest. A category of an older spool that is no longer known counts as the default one. */
export function priorityOf(category: string): number {
  return (byName.get(category) ?? byName.get(defaultCategory))?.priority ?? 0;
}

/** The names by which rate limits apply to this category. */
export function rateLimitNames(category: string): string[] {
  return byName.get(category)?.limitedBy ?? [category];
}

/**
 * Takes the category of an envelope's items so far (undefined before the first) and the type of its next item; returns the
 * category with the higher priority.
 */
export function higherPriority(best: string | undefined, item: string): string {
  const category = categoryOfItem.get(item) ?? defaultCategory;
  return best !== undefined && rank(best) <= rank(category) ? best : category;
}

const rank = (category: string) => byName.get(category)?.rank ?? categories.length;
