import { ERROR_MESSAGES } from "./error-messages";

export type ErrorNoticeData = {
  digest: string | undefined;
  requestId: string | undefined;
  eventId: string | undefined;
};

/**
 * Takes the ids of a server's exception and returns the body of the error page as HTML without scripts. Its retry link has an empty
 * address, which means this page: a path copied from the request, such as //other.example, could lead elsewhere.
 */
export function errorNoticeHtml({ digest, requestId, eventId }: ErrorNoticeData): string {
  const { before, after } = ERROR_MESSAGES.happened;
  return `<main><div class="notice" role="alert"><h1>${before}<span class="whole">${ERROR_MESSAGES.server}</span>${after}</h1>${
    digest
      ? `<p>${ERROR_MESSAGES.digest}<code>${escaped(digest)}</code></p><template data-dgst="${escaped(digest)}"></template>`
      : ""
  }<p>${ERROR_MESSAGES.advice}</p><dl class="quote"><dt>${ERROR_MESSAGES.request}</dt><dd>${requestId ?? ERROR_MESSAGES.none}</dd><dt>${
    ERROR_MESSAGES.event
  }</dt><dd>${eventId ?? ERROR_MESSAGES.none}</dd></dl><p class="actions"><a class="button" href="">${
    ERROR_MESSAGES.retry
  }</a><a href="/">${ERROR_MESSAGES.back}</a></p></div></main>`;
}

const ERROR_DOCUMENT = /<html(?= )(?=[^>]* id="__next_error__")/;

/**
 * Takes the first chunk of the document that Next sends for an exception while rendering (its body is empty, for React to
 * fill) and returns it with the notice inside, which React replaces when it starts. Returns any other document unchanged.
 */
export function fillErrorDocument(html: string, notice: string, stylesheet: string | undefined): string {
  if (!ERROR_DOCUMENT.test(html)) return html;
  const style = stylesheet ? `<link rel="stylesheet" href="${escaped(stylesheet)}">` : "";
  return html.replace(ERROR_DOCUMENT, '$& lang="en"').replace("</head><body>", () => `${style}</head><body>${notice}`);
}

/** Takes the notice and returns it as a whole document, for an exception to which Next responds with plain text or nothing. */
export function errorDocument(notice: string): string {
  return `<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><meta name="robots" content="noindex"><meta name="color-scheme" content="light dark"><title>Application error</title></head><body>${notice}</body></html>`;
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;");
}
