/** Responds with the number of bytes received. */
export async function POST(request) {
  let bytes = 0;
  for await (const chunk of request.body) bytes += chunk.length;
  return Response.json({ bytes });
}
