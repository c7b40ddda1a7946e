// Single keys. On a layout without Latin letters, a letter is found by its position.

export interface KeyPress {
  readonly key: string;
  readonly code: string;
  readonly ctrlKey: boolean;
  readonly altKey: boolean;
  readonly metaKey: boolean;
  readonly shiftKey: boolean;
  readonly repeat: boolean;
  readonly isComposing: boolean;
  readonly defaultPrevented: boolean;
  readonly target: EventTarget | null;
}

const TYPING = "textarea, select, [contenteditable=true], input:not([type=checkbox], [type=radio])";
const PRESSED_BY_ENTER = "a[href], button, summary, input";

/**
 * The name of the key ("y", "1", "enter", "?"), or null if the press is not for the page.
 *
 * `clicked` is the button that has the focus only because it was clicked: Enter is not meant for it.
 */
export function pageKey(press: KeyPress, clicked: Element | null = null): string | null {
  if (press.ctrlKey || press.altKey || press.metaKey) return null;
  if (press.repeat || press.isComposing || press.defaultPrevented) return null;
  if (isTaken(press.target)) return null;
  const target = press.target instanceof Element ? press.target : null;
  const name = keyName(press);
  const pressed = target?.closest(PRESSED_BY_ENTER);
  if (name === "enter" && pressed && pressed !== clicked) return null;
  return name;
}

/** Whether keys pressed there are not for the page: it is a text field, or a dialog is open. */
export function isTaken(target: EventTarget | null): boolean {
  const typing = target instanceof Element && target.closest(TYPING) !== null;
  // In some browsers a click on a dialog's text moves the focus, and the key's target, to the page.
  return typing || document.querySelector("dialog[open]") !== null;
}

function keyName({ key, code, shiftKey }: KeyPress): string {
  const name = key.toLowerCase();
  if (name.length > 1 || /[a-z0-9?]/.test(name)) return name;
  const digit = /^(?:Digit|Numpad)(\d)$/.exec(code)?.[1];
  // A French keyboard needs Shift for digits; on others Shift means the character above the digit.
  if (digit && !shiftKey) return digit;
  const letter = /^Key([A-Z])$/.exec(code)?.[1];
  return letter ? letter.toLowerCase() : name;
}

/** A key as it is shown. */
export function keyLabel(key: string): string {
  return key.length === 1 ? key.toUpperCase() : key.charAt(0).toUpperCase() + key.slice(1);
}
