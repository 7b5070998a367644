/** No icon; otherwise the browser requests /favicon.ico. */
export const metadata = { icons: { icon: "data:," } };

export default function Layout({ children }) {
  return (
    <html lang="en">
      <body>{children}</body>
    </html>
  );
}
