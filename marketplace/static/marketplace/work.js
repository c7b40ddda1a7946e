// Counts the time down, and goes on when the frame has submitted. The page works without it.
(() => {
  "use strict";
  const clock = document.querySelector("[data-seconds-left]");
  if (!clock) return;

  // Counted from when the page came, so that the clock of this machine does not matter.
  let end = performance.now() + Number(clock.dataset.secondsLeft) * 1000;
  const shown = clock.querySelector(".timer");

  const tick = () => {
    const left = Math.max(0, Math.round((end - performance.now()) / 1000));
    const hours = Math.floor(left / 3600);
    const two = (number) => String(number).padStart(2, "0");
    const minutes = Math.floor((left % 3600) / 60);
    shown.textContent = `${hours ? `${hours}:${two(minutes)}` : minutes}:${two(left % 60)}`;
    shown.classList.toggle("is-short", left < 60);
    return left;
  };
  tick();

  const work = document.querySelector("[data-status-url]");
  const ticking = setInterval(() => {
    if (tick() === 0) {
      clearInterval(ticking);
      if (work) ask();
    }
  }, 1000);
  if (!work) return;

  let gone = false;
  let asking = false;
  // Returning the HIT leads somewhere already: what the status says meanwhile must not lead away.
  document.addEventListener("submit", () => {
    gone = true;
  });
  async function ask() {
    if (gone || asking) return;
    asking = true;
    try {
      const answer = await fetch(work.dataset.statusUrl, { headers: { Accept: "application/json" } });
      if (!answer.ok || answer.redirected) return;
      const { status, seconds_left: left } = await answer.json();
      if (gone) return;
      if (status === "Accepted" && left > 0) {
        end = performance.now() + left * 1000;
        return;
      }
      gone = true;
      const next = document.getElementById("next-form");
      const auto = document.getElementById("auto");
      if (status === "Submitted" || status === "Approved") {
        if (next && auto && auto.checked) return next.submit();
      }
      window.location.replace(work.dataset.workUrl);
    } catch {
      // No network this moment: it is asked again.
    } finally {
      asking = false;
    }
  }

  const frame = document.querySelector("iframe.task");
  if (frame) {
    frame.addEventListener("load", ask);
    setInterval(() => {
      if (!document.hidden) ask();
    }, 4000);
    document.addEventListener("visibilitychange", () => {
      if (!document.hidden) ask();
    });
  }
})();
