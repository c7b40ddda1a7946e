// A small <crowd-form> and <crowd-button>: what is inside becomes a form that posts to the marketplace.
(() => {
  "use strict";
  const query = new URLSearchParams(window.location.search);
  const assignment = query.get("assignmentId") || "";
  const isPreview = !query.get("turkSubmitTo");

  function build(element) {
    const form = document.createElement("form");
    form.method = "post";
    form.action = `${query.get("turkSubmitTo") || ""}/mturk/externalSubmit`;
    while (element.firstChild) form.append(element.firstChild);
    const hidden = document.createElement("input");
    hidden.type = "hidden";
    hidden.name = "assignmentId";
    hidden.value = assignment;
    form.append(hidden);
    for (const button of form.querySelectorAll("crowd-button")) {
      const plain = document.createElement("button");
      plain.type = button.getAttribute("form-action") === "submit" ? "submit" : "button";
      plain.textContent = button.textContent;
      button.replaceWith(plain);
    }
    if (!form.querySelector("button[type=submit], input[type=submit], button:not([type])")) {
      const submit = document.createElement("button");
      submit.type = "submit";
      submit.textContent = "Submit";
      form.append(submit);
    }
    form.addEventListener("submit", (event) => {
      if (isPreview) event.preventDefault();
    });
    element.append(form);
  }

  const start = () => document.querySelectorAll("crowd-form").forEach(build);
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
  else start();
})();
