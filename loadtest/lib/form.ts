import { all } from "./html.ts";

type Fields = [name: string, value: string][];

/** The fields of the first form with a server action (`$ACTION_…`) that contains the text; undefined without one. */
export function findActionForm(html: string, text = ""): Fields | undefined {
  const isAction = (form: string) => form.includes('name="$ACTION_') && form.includes(text);
  const form = all(html, "form").find((tag) => isAction(tag.html() ?? ""));
  return form?.serializeArray().map(({ name, value }) => [name, value || (name.startsWith("$") ? "" : "load test")]);
}

/** Writes `multipart/form-data`. */
export function multipart(fields: Fields, boundary: string): { body: string; contentType: string } {
  const parts = fields.map(
    ([name, value]) =>
      `--${boundary}\r\nContent-Disposition: form-data; name="${name.replace(/"/g, "%22")}"\r\n\r\n${value}\r\n`,
  );
  return { body: `${parts.join("")}--${boundary}--\r\n`, contentType: `multipart/form-data; boundary=${boundary}` };
}
