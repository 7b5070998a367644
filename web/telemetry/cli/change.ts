/** A problem that the user can mend: printed as one line, without a stack. */
export class UsageError extends Error {}

/** What `init` would do to one file, relative to the repository's root; without `before`, it creates the file. */
export interface Change {
  file: string;
  before?: string | undefined;
  after: string;
}

/** What `init` leaves to the user: why, and what to do. */
export interface ByHand {
  file: string;
  problem: string;
  fix: string;
}

/** The result of looking at one file. */
export type Step = Change | ByHand;

export const isChange = (step: Step): step is Change => "after" in step;
export const isByHand = (step: Step): step is ByHand => !isChange(step);
