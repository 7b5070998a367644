import { expect, test } from "vitest";
import { errorDocument, errorNoticeHtml, fillErrorDocument } from "./error-page-html";

const textOf = (html: string) => html.replaceAll(/<[^>]+>/g, " ").replaceAll(/\s+/g, " ");
const notice = errorNoticeHtml({ digest: "123", requestId: "r1", eventId: "r1" });
const noIds = { digest: undefined, requestId: undefined, eventId: undefined };
const SHELL =
  '<!DOCTYPE html><html data-dpl-id="d1" id="__next_error__"><head><title>x</title></head><body><div hidden=""></div>';

test("it has the texts of React's error page", () => {
  expect(textOf(notice)).toContain("Application error: a server-side exception has occurred Digest: 123");
  expect(textOf(notice)).toContain("Request id r1 Event id r1");
  expect(errorNoticeHtml({ ...noIds, digest: '"><script>' })).toContain("<code>&quot;>&lt;script></code>");
  expect(textOf(errorNoticeHtml(noIds))).toContain("Request id – Event id –");
});

test("Next's empty error document is filled and marked as English; any other is not changed", () => {
  const filled = fillErrorDocument(SHELL, "<p>$& it</p>", "/a.css");
  expect(filled).toContain('<html lang="en" data-dpl-id="d1" id="__next_error__">');
  expect(filled).toContain('<link rel="stylesheet" href="/a.css"></head><body><p>$& it</p><div hidden="">');
  expect(fillErrorDocument("<html><head></head><body>", notice, undefined)).toBe("<html><head></head><body>");
});

test("on its own it is a whole document that search engines do not index", () => {
  expect(errorDocument(notice)).toMatch(/^<!DOCTYPE html><html lang="en">.*noindex.*<main>.*<\/html>$/);
});
