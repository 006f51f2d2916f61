/** A small generator (sfc32): one seed in, 32 random bits at a time. Its numbers are not JAX's; only fixtures must be. */
export class Random {
  private a: number;
  private b: number;
  private c: number;
  private d = 1;

  constructor(seed: number, stream = 0) {
    this.a = seed >>> 0;
    this.b = stream >>> 0;
    this.c = Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) >>> 0;
    for (let i = 0; i < 16; i++) this.word();
  }

  word(): number {
    const t = (((this.a + this.b) | 0) + this.d) | 0;
    this.d = (this.d + 1) | 0;
    this.a = this.b ^ (this.b >>> 9);
    this.b = (this.c + (this.c << 3)) | 0;
    this.c = (this.c << 21) | (this.c >>> 11);
    this.c = (this.c + t) | 0;
    return t >>> 0;
  }

  /** In [0, 1). */
  uniform(): number {
    return this.word() / 4294967296;
  }

  below(count: number): number {
    return Math.floor(this.uniform() * count);
  }

  /** `count` distinct numbers below `total`, sorted. */
  subset(total: number, count: number): number[] {
    const all = Array.from({ length: total }, (_, i) => i);
    for (let i = 0; i < count; i++) {
      const j = i + this.below(total - i);
      [all[i], all[j]] = [all[j], all[i]];
    }
    return all.slice(0, count).sort((a, b) => a - b);
  }
}
