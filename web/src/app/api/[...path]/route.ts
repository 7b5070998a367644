/** Responds to a path below /api that no other route serves with JSON, because an API's client cannot read a page. */
function notFound() {
  return Response.json({ error: "not found" }, { status: 404 });
}

export { notFound as DELETE, notFound as GET, notFound as PATCH, notFound as POST, notFound as PUT };
