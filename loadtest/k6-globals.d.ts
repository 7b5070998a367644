// Globals of k6's JavaScript engine that @types/k6 does not declare.
declare const crypto: {
  getRandomValues<T extends Uint8Array>(array: T): T;
  subtle: { digest(algorithm: "SHA-256", data: Uint8Array): Promise<ArrayBuffer> };
};
declare function setTimeout(callback: () => void, milliseconds: number): number;
