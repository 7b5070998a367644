import { renderToStaticMarkup } from "react-dom/server";
import { expect, test } from "vitest";
import { ErrorPage } from "./error-page.js";
import { PagesErrorPage } from "./pages-error-page.js";

const text = (markup: string) => markup.replaceAll(/<[^>]+>/g, " ").replaceAll(/\s+/g, " ");

test("texts and the last link can be replaced", () => {
  const html = renderToStaticMarkup(<ErrorPage error={new Error("x")} messages={{ browser: "Oje" }} home="/shop" />);
  expect(html).toContain("<h1>Oje</h1>");
  expect(html).toContain('href="/shop"');
});

test("the Pages Router's page shows both ids for an exception of the server, and none for a missing page", () => {
  const shown = text(renderToStaticMarkup(<PagesErrorPage statusCode={500} requestId="balancer-1" eventId="42" />));
  expect(shown).toMatch(/a server-side exception has occurred .* Request id balancer-1 Event id 42/);
  expect(renderToStaticMarkup(<PagesErrorPage statusCode={404} />)).toBe("<h1>Page not found</h1>");
});
