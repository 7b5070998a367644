import { expect, test } from "vitest";
import { fillShell, plainDocument, plainError } from "./error-page-html";

const words = (html: string) => html.replaceAll(/<[^>]+>/g, " ").replaceAll(/\s+/g, " ");
const notice = plainError({ digest: "123", requestId: "r1", eventId: "r1" });
const nothing = { digest: undefined, requestId: undefined, eventId: undefined };
const SHELL =
  '<!DOCTYPE html><html data-dpl-id="d1" id="__next_error__"><head><title>x</title></head><body><div hidden=""></div>';

test("it says what React's error page says", () => {
  expect(words(notice)).toContain("Application error: a server-side exception has occurred Digest: 123");
  expect(words(notice)).toContain("Request id r1 Event id r1");
  expect(plainError({ ...nothing, digest: '"><script>' })).toContain("<code>&quot;>&lt;script></code>");
  expect(words(plainError(nothing))).toContain("Request id – Event id –");
});

test("Next's empty error document is filled, and named as English; any other stays as it was", () => {
  const filled = fillShell(SHELL, "<p>$& it</p>", "/a.css");
  expect(filled).toContain('<html lang="en" data-dpl-id="d1" id="__next_error__">');
  expect(filled).toContain('<link rel="stylesheet" href="/a.css"></head><body><p>$& it</p><div hidden="">');
  expect(fillShell("<html><head></head><body>", notice, undefined)).toBe("<html><head></head><body>");
});

test("alone it is a whole document that no search engine keeps", () => {
  expect(plainDocument(notice)).toMatch(/^<!DOCTYPE html><html lang="en">.*noindex.*<main>.*<\/html>$/);
});
