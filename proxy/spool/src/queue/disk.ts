import type { DatabaseSync } from "node:sqlite";
import { log, logOncePerMinute } from "../log.ts";
import { describeError, isDamage } from "./database-errors.ts";
import { GroupCommit } from "./group-commit.ts";

const probe = "INSERT INTO attempt (id, ended) VALUES (-1, 1); DELETE FROM attempt WHERE id = -1";

/**
 * Returns the transactions on a database, which log why they fail, and the health check. `onDamage` is called when the database turns
 * out to be damaged while in use: its contents can no longer be trusted.
 */
export function watchDisk(database: DatabaseSync, folder: string, onDamage: () => void) {
  let isFailing = false;
  const transactions = new GroupCommit(database, (error) => {
    isFailing = true;
    const [problem, fix] = describeError(error, folder);
    logOncePerMinute(problem, `${folder} ${problem}: ${fix}`);
    if (isDamage(error)) onDamage();
  });
  /** Whether the database can be written: after a failure, tries it. */
  const isHealthy = async (): Promise<boolean> => {
    if (!isFailing) return true;
    const isWritten = transactions.write(() => database.exec(probe)).then(() => true);
    isFailing = !(await isWritten.catch(() => false));
    if (!isFailing) log(`${folder} is writable again`);
    return !isFailing;
  };
  return { transactions, isHealthy };
}
