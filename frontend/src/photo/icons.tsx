// Small line drawings for buttons, on a field of 24 × 24.
const PATHS = {
  plus: "M12 5v14M5 12h14",
  minus: "M5 12h14",
  fit: "M4 9V4h5M15 4h5v5M20 15v5h-5M9 20H4v-5",
  undo: "M8 5 4 9l4 4M4 9h10a6 6 0 0 1 0 11h-3",
  redo: "m16 5 4 4-4 4M20 9H10a6 6 0 0 0 0 11h3",
  clear: "M4 7h16M9 7V4h6v3M6 7l1 13h10l1-13M10 11v5M14 11v5",
  hide: "M3 12s3-6 9-6 9 6 9 6-3 6-9 6-9-6-9-6M4 20 20 4",
} as const;

export function Icon({ name }: { name: keyof typeof PATHS }) {
  return (
    <svg class="photo-icon" viewBox="0 0 24 24" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  );
}
