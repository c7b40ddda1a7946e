// Submits to the marketplace: an ordinary form, posted from inside the frame.

import type { Page } from "./protocol";

export function handIn(
  page: Pick<Page, "submitUrl" | "assignmentId">,
  fields: Readonly<Record<string, string>>,
): void {
  const form = document.createElement("form");
  form.method = "post";
  form.action = page.submitUrl;
  form.hidden = true;
  for (const [name, value] of Object.entries({ ...fields, assignmentId: page.assignmentId })) {
    const input = document.createElement("input");
    input.type = "hidden";
    input.name = name;
    input.value = value;
    form.append(input);
  }
  document.body.append(form);
  // A field named "submit" would hide the form's own method.
  HTMLFormElement.prototype.submit.call(form);
}
