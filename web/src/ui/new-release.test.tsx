import { UnrecognizedActionError } from "next/dist/client/components/unrecognized-action-error";
import { renderToStaticMarkup } from "react-dom/server";
import { expect, test } from "vitest";
import ErrorBoundary from "../app/error";

const shown = (error: Error) => renderToStaticMarkup(<ErrorBoundary error={error} retry={() => {}} />);

test("an action that the server no longer has means a new release, not an error", () => {
  expect(shown(new UnrecognizedActionError("not found"))).toContain("This site has just been updated.");
  expect(shown(new Error("not found"))).toContain("Application error");
});
