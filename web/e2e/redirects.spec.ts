import { arrived, of, received } from "./envelopes.ts";
import { expect, outcomeOf, test, traceOf } from "./fixtures.ts";

for (const [how, role, name] of [
  ["while the server renders", "link", "Follow a redirect"],
  ["from a server action", "button", "Redirect from an action"],
  ["while the browser renders", "button", "Redirect in the browser"],
] as const) {
  test(`a redirect ${how} ends at its target and sends no error`, async ({ page, allow }) => {
    allow.consoleError(/Thrown on purpose/);
    await page.goto("/test-events");
    const trace = await traceOf(page);
    await page.getByRole(role, { name }).click();
    await expect(page).toHaveURL(/\/trace$/);
    await expect(page.getByRole("heading", { level: 1 })).toHaveText("The trace of this page view");

    // An event of the redirect would be sent before a later error.
    await page.getByRole("link", { name: "Test events" }).click();
    await page.getByRole("button", { name: "Throw in the browser" }).click();
    await expect(outcomeOf(page, "Throw in the browser")).toContainText("Accepted");
    const id = (await outcomeOf(page, "Throw in the browser").textContent())?.match(/[0-9a-f]{32}/)?.[0];
    await arrived("event", ({ item }) => item.payload.event_id === id);
    expect(await received("event", of(trace))).toEqual([]);
  });
}
