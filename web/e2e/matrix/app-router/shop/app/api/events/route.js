const SILENCE_MS = 90_000;

/** Two events with an idle period between them. */
export function GET(request) {
  const body = new ReadableStream({
    start(controller) {
      controller.enqueue("data: before\n\n");
      const timer = setTimeout(() => controller.enqueue("data: after\n\n"), SILENCE_MS);
      request.signal.addEventListener("abort", () => clearTimeout(timer));
    },
  }).pipeThrough(new TextEncoderStream());
  return new Response(body, { headers: { "Content-Type": "text/event-stream", "Cache-Control": "no-store" } });
}
