/**
 * Takes origins and returns the SDK's `tracePropagationTargets` for those origins only.
 * Returns patterns, because the SDK matches a string anywhere in an address, query included.
 */
export function propagationTargets(origins: string[]): RegExp[] {
  return origins.map((origin) => new RegExp(`^${origin.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&")}(?:[/?#]|$)`, "i"));
}
