import { init, makeFetchTransport } from "@sentry/nextjs";
import { keptHere, patient } from "./offline";
import { browserOptions } from "./options";
import { readPublicSettings } from "./public-settings";
import { noteDocument } from "./report";
import { noteDocumentRequest } from "./request-id";
import { scrubbing, scrubTraceNames } from "./scrub-envelopes";
import { watched } from "./transport";

/** Starts the browser's telemetry with the settings that its page carries; without any, nothing starts. */
export function startTelemetry(): void {
  noteDocument(document);
  noteDocumentRequest(document);
  const settings = readPublicSettings(document);
  if (!settings) return;
  const transport = scrubbing(patient(watched(makeFetchTransport, keptHere)));
  scrubTraceNames(init({ ...browserOptions(settings), transport }));
}
