/** Sixteen cookies of 1,000 bytes each. */
export function GET() {
  const headers = new Headers();
  for (let n = 10; n < 26; n++)
    headers.append("Set-Cookie", `c${n}=${"x".repeat(1_000)}; Path=/shop; Secure; HttpOnly`);
  return new Response("baked", { headers });
}
