// Globals of k6's JavaScript engine that @types/k6 does not declare.
declare const crypto: { getRandomValues<T extends Uint8Array>(array: T): T };
// That of the page, for a function that runs there.
declare const document: { querySelectorAll(selector: string): Iterable<object> };
