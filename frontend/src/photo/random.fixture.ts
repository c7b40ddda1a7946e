// Many cases, the same in every run.

export function generator(seed = 1): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

export class Cases {
  constructor(private readonly next = generator()) {}

  real(low: number, high: number): number {
    return low + this.next() * (high - low);
  }

  integer(low: number, high: number): number {
    return Math.floor(this.real(low, high + 1));
  }

  /** Small and large numbers alike. */
  length(low: number, high: number): number {
    return Math.round(Math.exp(this.real(Math.log(low), Math.log(high))));
  }

  size(low: number, high: number) {
    return { width: this.length(low, high), height: this.length(low, high) };
  }

  rect(photo: { width: number; height: number }): readonly [number, number, number, number] {
    const [xmin, ymin] = [this.integer(1, photo.width), this.integer(1, photo.height)];
    return [xmin, ymin, this.integer(xmin, photo.width), this.integer(ymin, photo.height)];
  }
}
