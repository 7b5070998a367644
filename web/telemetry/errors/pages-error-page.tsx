import type { NextPageContext } from "next";
import { captureUnderscoreErrorException } from "#sdk";
import { serverEventId } from "./error-boundary.js";
import { ERROR_MESSAGES as text } from "./error-messages.js";
import { requestIdIn } from "./request-id.js";

type Props = { statusCode: number; requestId?: string; eventId?: string };

/** The error page of the Pages Router, for pages/_error: `export { PagesErrorPage as default }`. Next also renders it for status 404. */
export function PagesErrorPage({ statusCode, requestId, eventId }: Props) {
  if (statusCode === 404) return <h1>Page not found</h1>;
  return (
    <div className="culvert-error" role="alert">
      <h1>{requestId ? text.server : text.browser}</h1>
      <p>{text.advice}</p>
      <dl>
        <dt>{text.request}</dt>
        <dd>{requestId ?? text.none}</dd>
        <dt>{text.event}</dt>
        <dd>{eventId ?? text.none}</dd>
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
