/** Two events, with a silence between them that is longer than Nginx' default timeouts. */
export function GET(request) {
  const body = new ReadableStream({
    start(controller) {
      controller.enqueue("data: before\n\n");
      const timer = setTimeout(() => controller.enqueue("data: after\n\n"), 65_000);
      request.signal.addEventListener("abort", () => clearTimeout(timer));
    },
  }).pipeThrough(new TextEncoderStream());
  return new Response(body, { headers: { "Content-Type": "text/event-stream", "Cache-Control": "no-store" } });
}
