import { tags } from "./html.ts";

/** A server action's form in the HTML: it works without JavaScript, so a load generator can submit it. */
export interface ActionForm {
  fields: [name: string, value: string][];
}

/**
 * Finds the first form that posts a server action and contains the text; returns undefined if the page has none.
 *
 * Next marks such a form with hidden `$ACTION_…` inputs: https://react.dev/reference/rsc/server-functions
 */
export function findActionForm(html: string, text = ""): ActionForm | undefined {
  const forms = Array.from(html.matchAll(/<form\b[\s\S]*?<\/form>/gi), ([form]) => form);
  const form = forms.find((one) => one.includes('name="$ACTION_') && one.includes(text));
  if (!form) return undefined;
  const named = [...tags(form, "input"), ...tags(form, "textarea")].filter(({ name }) => name);
  return { fields: named.map(({ name = "", value, type }) => [name, value || (type === "hidden" ? "" : "load test")]) };
}

/** Writes `multipart/form-data`. Throws if the boundary occurs in a field, because it would split the field. */
export function multipart(fields: ActionForm["fields"], boundary: string): { body: string; contentType: string } {
  const parts = fields.map(([name, value]) => {
    if (`${name}${value}`.includes(boundary)) throw new Error(`boundary ${boundary} occurs in field ${name}`);
    return `--${boundary}\r\nContent-Disposition: form-data; name="${name.replace(/"/g, "%22")}"\r\n\r\n${value}\r\n`;
  });
  return { body: `${parts.join("")}--${boundary}--\r\n`, contentType: `multipart/form-data; boundary=${boundary}` };
}
