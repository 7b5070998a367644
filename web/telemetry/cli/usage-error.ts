/** A problem that the user can mend: printed as one line, without a stack. */
export class UsageError extends Error {}
