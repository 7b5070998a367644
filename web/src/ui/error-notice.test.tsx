import { renderToStaticMarkup } from "react-dom/server";
import { expect, test } from "vitest";
import GlobalError from "../app/global-error";
import { ErrorNotice } from "./error-notice";

const text = (markup: string) => markup.replaceAll(/<[^>]+>/g, " ").replaceAll(/\s+/g, " ");
const secret = "select * from accounts";
const client = new Error(secret);
const server = Object.assign(new Error(secret), { digest: "693071629" });
const retry = () => {};

// The same texts wherever the exception is caught: in a segment, or in the root layout itself.
test.each([
  ["the segment's boundary", ErrorNotice],
  ["the global boundary", GlobalError],
])("%s shows where it happened and its digest, if any, but not its message", (_where, Boundary) => {
  const inBrowser = text(renderToStaticMarkup(<Boundary error={client} retry={retry} />));
  expect(inBrowser).toContain("Application error: a client-side exception has occurred");
  expect(inBrowser).not.toContain("Digest:");

  const onServer = text(renderToStaticMarkup(<Boundary error={server} retry={retry} />));
  expect(onServer).toContain("Application error: a server-side exception has occurred Digest: 693071629");

  for (const html of [inBrowser, onServer]) {
    expect(html).toContain("Try again");
    expect(html).not.toContain(secret);
  }
});

test("the global boundary renders its own document", () => {
  const markup = renderToStaticMarkup(<GlobalError error={client} retry={retry} />);
  expect(markup).toMatch(/^<html lang="en">/);
  expect(markup).toContain("<title>Application error</title>");
});
