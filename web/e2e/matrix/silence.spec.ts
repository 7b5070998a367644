import { expect, test } from "./apps.ts";

// Runs after the files before it in the alphabet, so that most of the wait has passed.
test("events continue after 90 s of silence", async ({ stream }) => {
  test.setTimeout(180_000);
  await expect.poll(async () => (await stream.events()).slice(0, 2), { timeout: 450_000 }).toEqual(["before", "after"]);
});

test("Next can write its files: no app logs an error of its file system", async ({ apps }) => {
  for (const app of [apps.appRouter, apps.pagesRouter, apps.wizard]) {
    expect(await app.log()).not.toMatch(/EROFS|ENOENT|EACCES|ENOSPC/);
  }
});
