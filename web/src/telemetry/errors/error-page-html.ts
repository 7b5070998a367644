import { WORDS } from "./error-messages";

export type PlainError = {
  digest: string | undefined;
  requestId: string | undefined;
  eventId: string | undefined;
};

/**
 * Takes what is known of a server's exception and returns the error page's body as HTML that needs no script. Its retry names no address,
 * which means this very page: one written out, //other.example, would be a visitor's word and lead elsewhere.
 */
export function plainError({ digest, requestId, eventId }: PlainError): string {
  const { before, after } = WORDS.happened;
  return `<main><div class="notice" role="alert"><h1>${before}<span class="whole">${WORDS.server}</span>${after}</h1>${
    digest
      ? `<p>${WORDS.digest}<code>${escaped(digest)}</code></p><template data-dgst="${escaped(digest)}"></template>`
      : ""
  }<p>${WORDS.advice}</p><dl class="quote"><dt>${WORDS.request}</dt><dd>${requestId ?? WORDS.none}</dd><dt>${
    WORDS.event
  }</dt><dd>${eventId ?? WORDS.none}</dd></dl><p class="actions"><a class="button" href="">${
    WORDS.retry
  }</a><a href="/">${WORDS.back}</a></p></div></main>`;
}

const SHELL = /<html(?= )(?=[^>]* id="__next_error__")/;

/**
 * Takes the first piece of the document that Next sends for an exception while rendering (its body is empty, for React to
 * fill) and returns it with the notice inside, which React replaces when it starts. Anything else comes back as it was.
 */
export function fillShell(html: string, notice: string, stylesheet: string | undefined): string {
  if (!SHELL.test(html)) return html;
  const style = stylesheet ? `<link rel="stylesheet" href="${escaped(stylesheet)}">` : "";
  return html.replace(SHELL, '$& lang="en"').replace("</head><body>", () => `${style}</head><body>${notice}`);
}

/** Takes the notice and returns it as a document of its own, for an exception of which Next says nothing but its name. */
export function plainDocument(notice: string): string {
  return `<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><meta name="robots" content="noindex"><meta name="color-scheme" content="light dark"><title>Application error</title></head><body>${notice}</body></html>`;
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;");
}
