/** Answers an address below /api that no other route serves: JSON, since whoever calls an API can't read a page. */
function notFound() {
  return Response.json({ error: "not found" }, { status: 404 });
}

export { notFound as DELETE, notFound as GET, notFound as PATCH, notFound as POST, notFound as PUT };
