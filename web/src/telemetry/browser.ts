import { init, makeFetchTransport } from "@sentry/nextjs";
import { noteDocument } from "./errors/error-boundary";
import { noteDocumentRequest } from "./errors/request-id";
import { scrubbing, scrubTraceNames } from "./filter/scrub-envelopes";
import { browserOptions } from "./options";
import { keptHere, patient } from "./send/offline-queue";
import { watched } from "./send/recording-transport";
import { readPublicSettings } from "./settings/public-settings";

/** Starts the browser's telemetry with the settings that its page carries; without any, nothing starts. */
export function startTelemetry(): void {
  noteDocument(document);
  noteDocumentRequest(document);
  const settings = readPublicSettings(document);
  if (!settings) return;
  const transport = scrubbing(patient(watched(makeFetchTransport, keptHere)));
  scrubTraceNames(init({ ...browserOptions(settings), transport }));
}
