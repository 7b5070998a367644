import type { NextPageContext } from "next";
import { captureUnderscoreErrorException } from "#sdk";
import { serverEventId } from "./error-boundary.js";
import { ERROR_MESSAGES } from "./error-messages.js";
import { requestIdIn } from "./request-id.js";

type Props = { statusCode: number; requestId?: string; eventId?: string };

/** The error page of the Pages Router, for pages/_error: `export { PagesErrorPage as default }`. Next also renders it for status 404. */
export function PagesErrorPage({ statusCode, requestId, eventId }: Props) {
  if (statusCode === 404) return <h1>Page not found</h1>;
  return (
    <div className="culvert-error" role="alert">
      <h1>{requestId ? ERROR_MESSAGES.server : ERROR_MESSAGES.browser}</h1>
      <p>{ERROR_MESSAGES.advice}</p>
      <dl>
        <dt>{ERROR_MESSAGES.request}</dt>
        <dd>{requestId ?? ERROR_MESSAGES.none}</dd>
        <dt>{ERROR_MESSAGES.event}</dt>
        <dd>{eventId ?? ERROR_MESSAGES.none}</dd>
      </dl>
    </div>
  );
}

/** Sends the exception, and waits for it as the SDK's guide says. */
PagesErrorPage.getInitialProps = async (context: NextPageContext): Promise<Props> => {
  await captureUnderscoreErrorException(context);
  const statusCode = context.res?.statusCode ?? context.err?.statusCode ?? 404;
  const requestId = context.req && requestIdIn(context.req.headers);
  return { statusCode, requestId, eventId: serverEventId(requestId) };
};
