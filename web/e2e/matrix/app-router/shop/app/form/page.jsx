"use client";

import { useActionState } from "react";
import { greet } from "./actions";

export default function Form() {
  const [greeting, submit] = useActionState(greet, "");
  return (
    <form action={submit}>
      <input name="name" aria-label="Name" />
      <button type="submit">Greet</button>
      <output>{greeting}</output>
    </form>
  );
}
