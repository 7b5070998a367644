import StyledJsx from "./styled-jsx";

/** None: else the browser asks for /favicon.ico. */
export const metadata = { icons: { icon: "data:," } };

export default function Layout({ children }) {
  return (
    <html lang="en">
      <body>
        <StyledJsx>{children}</StyledJsx>
      </body>
    </html>
  );
}
