"use server";

export async function greet(_before, form) {
  return `Hello ${form.get("name")}`;
}
