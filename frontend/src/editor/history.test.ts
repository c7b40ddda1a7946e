import { expect, test } from "vitest";
import { begun, changed, redone, undone } from "./history";

test("goes back and forth", () => {
  const three = changed(changed(begun("a"), "b"), "c");
  expect(undone(three).now).toBe("b");
  expect(undone(undone(three)).now).toBe("a");
  expect(undone(undone(undone(three))).now).toBe("a");
  expect(redone(undone(undone(three))).now).toBe("b");
  expect(redone(redone(undone(undone(three))))).toEqual({ ...three, tag: "", at: 0 });
  expect(redone(three)).toBe(three);
});

test("a change after an undo drops what could have been redone", () => {
  const other = changed(undone(changed(begun("a"), "b")), "c");
  expect(redone(other)).toBe(other);
  expect(undone(other).now).toBe("a");
});

test("quick changes of one kind count as one", () => {
  const first = changed(begun(0), 1, "nudge", 1000);
  const second = changed(first, 2, "nudge", 1500);
  expect(undone(second).now).toBe(0);
  expect(undone(changed(second, 3, "nudge", 2500)).now).toBe(2);
  expect(undone(changed(second, 3, "other", 1600)).now).toBe(2);
  expect(undone(changed(changed(begun(0), 1), 2)).now).toBe(1);
});

test("a change after an undo is never joined to the one before", () => {
  const back = undone(changed(changed(begun(0), 1), 2, "nudge", 1000));
  expect(undone(changed(back, 9, "nudge", 1100)).now).toBe(1);
});

test("does not grow without end", () => {
  let history = begun(0);
  for (let step = 1; step <= 1000; step++) history = changed(history, step);
  expect(history.past.length).toBe(200);
  expect(undone(history).now).toBe(999);
});
