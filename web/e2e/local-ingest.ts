/**
 * A script for Node in the local ingest's container, which reads its stream of envelopes until so many lines have all the words, and prints
 * the last of them; exits with 1 after a minute. Its arguments are the number and the words.
 */
export const READ_STREAM = `
  const [count, ...words] = process.argv.slice(1);
  setTimeout(() => process.exit(1), 60_000);
  let text = "";
  fetch("http://127.0.0.1:8969/stream").then(async ({ body }) => {
    for await (const chunk of body.pipeThrough(new TextDecoderStream())) {
      text += chunk;
      const found = text.split("\\n").filter((line) => words.every((word) => line.includes(word)));
      if (found.length >= count) { console.log(found[count - 1]); process.exit(); }
    }
  });
`;
