import { UnrecognizedActionError } from "next/dist/client/components/unrecognized-action-error.js";
import { renderToStaticMarkup } from "react-dom/server";
import { expect, test } from "vitest";
import { ErrorPage } from "./error-page.js";
import { GlobalErrorPage } from "./global-error-page.js";
import { PagesErrorPage } from "./pages-error-page.js";

const text = (markup: string) => markup.replaceAll(/<[^>]+>/g, " ").replaceAll(/\s+/g, " ");
const secret = "select * from accounts";
const client = new Error(secret);
const server = Object.assign(new Error(secret), { digest: "693071629" });
const retry = () => {};

// The same texts wherever the exception is caught: in a segment, or in the root layout itself.
test.each([
  ["the segment's boundary", ErrorPage],
  ["the global boundary", GlobalErrorPage],
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
  const markup = renderToStaticMarkup(<GlobalErrorPage error={client} retry={retry} />);
  expect(markup).toMatch(/^<html lang="en">/);
  expect(markup).toContain("<title>Application error</title>");
});

test("an action that the server no longer has means a new release, not an error", () => {
  const outdated = renderToStaticMarkup(<ErrorPage error={new UnrecognizedActionError("not found")} />);
  expect(outdated).toContain("This site has just been updated.");
});

test("texts and the last link can be replaced", () => {
  const html = renderToStaticMarkup(<ErrorPage error={client} messages={{ browser: "Oje" }} home="/shop" />);
  expect(html).toContain("<h1>Oje</h1>");
  expect(html).toContain('href="/shop"');
});

test("the page of the Pages Router shows both ids for an exception of the server, and none for a missing page", () => {
  const shown = text(renderToStaticMarkup(<PagesErrorPage statusCode={500} requestId="balancer-1" eventId="42" />));
  expect(shown).toMatch(/a server-side exception has occurred .* Request id balancer-1 Event id 42/);
  expect(renderToStaticMarkup(<PagesErrorPage statusCode={404} />)).toBe("<h1>Page not found</h1>");
});
