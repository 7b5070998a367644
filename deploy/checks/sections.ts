/** Reads text in sections that begin with "== NAME". */
export function readSections(text: string) {
  const sections = `\n${text}`.split("\n== ").map((section) => section.split("\n").filter((line) => line.trim()));
  const lines = (name: string) => sections.find(([first]) => first === name)?.slice(1) ?? [];
  const json = <T>(name: string, none: T): T => (lines(name).length > 0 ? JSON.parse(lines(name).join("\n")) : none);
  return { lines, json };
}
