/**
 * Sentry's data categories, highest priority first: the order of delivery, and the reverse order of eviction. For each: its priority, the
 * envelope items in it, and the names by which an ingest's rate limits apply to it.
 * https://develop.sentry.dev/sdk/foundations/transport/rate-limiting/
 */
const categories: [category: string, priority: number, items: string[], limitedBy: string[]][] = [
  ["error", 0, ["event"], ["error"]],
  ["monitor", 0, ["check_in"], ["monitor"]],
  ["feedback", 1, ["feedback", "user_report"], ["feedback"]],
  ["attachment", 1, ["attachment"], ["attachment"]],
  ["log_item", 2, ["log", "otel_log"], ["log_item", "log_byte"]],
  ["trace_metric", 2, ["trace_metric", "metric"], ["trace_metric"]],
  ["security", 2, ["raw_security", "nel"], ["security"]],
  ["internal", 2, ["client_report"], ["internal"]],
  // Categories that Sentry adds later: evicted only after everything that is known to be bulk.
  ["default", 2, [], ["default"]],
  ["session", 3, ["session", "sessions"], ["session"]],
  ["transaction", 4, ["transaction"], ["transaction", "transaction_processed"]],
  ["span", 4, ["span", "otel_span"], ["span"]],
  ["profile", 5, ["profile", "profile_chunk"], ["profile", "profile_chunk", "profile_chunk_ui"]],
  ["replay", 6, ["replay_event", "replay_recording", "replay_video"], ["replay"]],
];

const priorities = new Map(categories.map(([category, priority]) => [category, priority]));
const limits = new Map(categories.map(([category, , , limitedBy]) => [category, limitedBy]));
const ranks = new Map(categories.map(([category], rank) => [category, rank]));
const categoryOfItem = new Map(categories.flatMap(([category, , items]) => items.map((item) => [item, category])));

/** The category of an envelope without items. */
export const defaultCategory = "default";

/** The priority of a category; 0 is the highest. A category that another version of the spool knew counts as the default one. */
export function priorityOf(category: string): number {
  return priorities.get(category) ?? priorities.get(defaultCategory) ?? 0;
}

/** The names by which rate limits apply to this category. */
export function rateLimitNames(category: string): string[] {
  return limits.get(category) ?? [category];
}

/**
 * Takes the category of an envelope's items so far (undefined before the first) and the type of its next item; returns the
 * category with the higher priority.
 */
export function higherPriority(best: string | undefined, item: string): string {
  const category = categoryOfItem.get(item) ?? defaultCategory;
  return best !== undefined && Number(ranks.get(best)) <= Number(ranks.get(category)) ? best : category;
}
