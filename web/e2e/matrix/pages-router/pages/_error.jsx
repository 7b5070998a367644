/** The classic error page, which is rendered per request. */
export default function Failed({ status, asked }) {
  return (
    <h1>
      Failed with {status} at {asked}
    </h1>
  );
}

Failed.getInitialProps = ({ res, err, asPath }) => ({
  status: res?.statusCode ?? err?.statusCode ?? 0,
  asked: asPath,
});
