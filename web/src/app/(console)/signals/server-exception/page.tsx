export default function ServerExceptionPage(): never {
  throw new Error("Thrown on purpose while rendering on the server");
}
