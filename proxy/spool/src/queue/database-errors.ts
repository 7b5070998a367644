/** The fix for a damaged database. */
export const damagedFix = "move spool.db and spool.db-wal away and restart; the envelopes in them were not delivered";

/** Whether a database error means that the file is damaged. */
export function isDamage(error: unknown): boolean {
  return [11, 26].includes(primaryCode(error));
}

/** Describes an error of the database, or of access to its folder, as problem and fix. Codes: https://sqlite.org/rescode.html */
export function describeError(error: unknown, folder: string): [problem: string, fix: string] {
  const { message, syscall } = error as NodeJS.ErrnoException;
  switch (syscall === "access" ? 14 : primaryCode(error)) {
    case 5:
      return ["is in use by another spool", "give each spool a volume of its own"];
    case 8:
    case 14:
      return ["is not writable", `mount a volume there that uid ${process.getuid?.()} can write to`];
    case 11:
    case 26:
      return [`holds a damaged spool.db (${message})`, damagedFix];
    case 13:
      return ["is on a full disk", "free space there, or lower SPOOL_MAX_MB"];
    default: {
      const { errcode } = error as { errcode?: number };
      return [`fails (${message}, SQLite code ${errcode})`, `check the disk under ${folder}`];
    }
  }
}

const primaryCode = (error: unknown) => Number((error as { errcode?: number }).errcode) & 0xff;
