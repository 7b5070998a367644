/**
 * What a waiting envelope is worth, by Sentry's data categories, the worthiest first. Delivery begins at the top; when room
 * runs out, the bottom goes first. Each line: the category, the envelope items that make it, and the names by which an
 * ingest's rate limits stop it. https://develop.sentry.dev/sdk/foundations/transport/rate-limiting/
 */
const ranks: { worth: number; category: string; items: string[]; limitedBy: string[] }[] = [
  { worth: 0, category: "error", items: ["event"], limitedBy: ["error"] },
  { worth: 0, category: "monitor", items: ["check_in"], limitedBy: ["monitor"] },
  { worth: 1, category: "feedback", items: ["feedback", "user_report"], limitedBy: ["feedback"] },
  { worth: 1, category: "attachment", items: ["attachment"], limitedBy: ["attachment"] },
  { worth: 2, category: "log_item", items: ["log", "otel_log"], limitedBy: ["log_item", "log_byte"] },
  { worth: 2, category: "trace_metric", items: ["trace_metric", "metric"], limitedBy: ["trace_metric"] },
  { worth: 2, category: "security", items: ["raw_security", "nel"], limitedBy: ["security"] },
  { worth: 2, category: "internal", items: ["client_report"], limitedBy: ["internal"] },
  // Whatever Sentry invents next: not thrown out before what is known to be bulk.
  { worth: 2, category: "default", items: [], limitedBy: ["default"] },
  { worth: 3, category: "session", items: ["session", "sessions"], limitedBy: ["session"] },
  { worth: 4, category: "transaction", items: ["transaction"], limitedBy: ["transaction", "transaction_processed"] },
  { worth: 4, category: "span", items: ["span", "otel_span"], limitedBy: ["span"] },
  {
    worth: 5,
    category: "profile",
    items: ["profile", "profile_chunk"],
    limitedBy: ["profile", "profile_chunk", "profile_chunk_ui"],
  },
  {
    worth: 6,
    category: "replay",
    items: ["replay_event", "replay_recording", "replay_video"],
    limitedBy: ["replay"],
  },
];

const byCategory = new Map(ranks.map((rank, order) => [rank.category, { ...rank, order }]));
const byItem = new Map(ranks.flatMap((rank) => rank.items.map((item) => [item, rank.category] as const)));

/** The worth of a category: 0 is the highest. A category that an older version of the spool knew counts as unknown. */
export function priorityOf(category: string): number {
  return (byCategory.get(category) ?? byCategory.get(fallback))?.worth ?? 0;
}

/** The names by which rate limits stop this category. */
export function limitNames(category: string): string[] {
  return byCategory.get(category)?.limitedBy ?? [category];
}

/** The category of an envelope without items. */
export const fallback = "default";

/** Takes the category of an envelope's items so far, undefined before the first, and the next one's type; returns the higherPriority. */
export function higherPriority(best: string | undefined, item: string): string {
  const category = byItem.get(item) ?? fallback;
  return best !== undefined && order(best) <= order(category) ? best : category;
}

const order = (category: string) => byCategory.get(category)?.order ?? ranks.length;
