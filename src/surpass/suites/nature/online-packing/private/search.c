/* Evolution strategy over the score table of solutions/oracle; driven by search.py, which explains the policy.
 *
 *   search OUT [START] SEED GENERATIONS SIGMA RATE W1 W2 W3 W4
 *
 * Minimises sum_f W_f * excess_f over fresh random streams. One row of OUT: the running mean of the parameters. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CAPACITY = 150, LEVELS = CAPACITY + 1, SIZE = 3 * LEVELS, PAIRS = 40, FAMILIES = 4, LONGEST = 1000 };
static const int length[FAMILIES] = {120, 250, 500, 1000};
static const int batch[FAMILIES] = {16, 8, 6, 5};               /* streams per evaluation while training */
static const int check[FAMILIES] = {6000, 3000, 1600, 800};     /* streams behind the figures printed */
static double weight[FAMILIES];
static float crowd_of[LONGEST + 1];                             /* log(1 + k) */

static uint64_t next_word(uint64_t *state) {                    /* splitmix64 */
    uint64_t z = (*state += 0x9E3779B97F4A7C15ull);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return z ^ (z >> 31);
}
static double uniform(uint64_t *state) { return ((next_word(state) >> 11) + 0.5) / 9007199254740992.0; }
static double normal(uint64_t *state) {
    double radius = sqrt(-2 * log(uniform(state)));
    return radius * cos(6.283185307179586 * uniform(state));
}

/* Bins that one stream takes. Row 0: worth of a level; row 1: change per log(1 + bins there); row 2: per log time. */
static int pack(const double *table, const uint8_t *items, int n) {
    float base[LEVELS], crowd[LEVELS], trend[LEVELS], now[LEVELS] = {0}, leave[LEVELS] = {0}, enter[LEVELS] = {0};
    int count[LEVELS] = {0}, bins = 0;
    for (int r = 0; r < LEVELS; r++) {
        base[r] = table[r];
        crowd[r] = table[LEVELS + r];
        trend[r] = table[2 * LEVELS + r];
    }
    for (int t = 0; t < n; t++) {
        if (t % 8 == 0) {
            float clock = logf((t + 30) / 150.f);
            for (int r = 0; r < LEVELS; r++) {
                now[r] = base[r] + clock * trend[r];
                enter[r] = now[r] + crowd[r] * crowd_of[count[r]];
                leave[r] = count[r] ? now[r] + crowd[r] * crowd_of[count[r] - 1] : -1e9f;
            }
            leave[CAPACITY] = now[CAPACITY];                    /* a new bin is always there */
        }
        int item = items[t], width = LEVELS - item, to = 0;
        float cost[LEVELS], least = 1e30f;
        for (int j = 0; j < width; j++) cost[j] = enter[j] - leave[j + item];
        for (int j = 0; j < width; j++) least = cost[j] < least ? cost[j] : least;
        while (cost[to] != least) to++;
        int from = to + item, k;
        if (from == CAPACITY) {
            bins++;
        } else {
            k = --count[from];
            enter[from] = now[from] + crowd[from] * crowd_of[k];
            leave[from] = k ? now[from] + crowd[from] * crowd_of[k - 1] : -1e9f;
        }
        k = ++count[to];
        enter[to] = now[to] + crowd[to] * crowd_of[k];
        leave[to] = now[to] + crowd[to] * crowd_of[k - 1];
    }
    return bins;
}

static uint8_t *streams(uint64_t *state, const int *number) {
    size_t total = 0;
    for (int f = 0; f < FAMILIES; f++) total += (size_t)number[f] * length[f];
    uint8_t *items = malloc(total);
    for (size_t i = 0; i < total; i++) items[i] = 20 + next_word(state) % 81;
    return items;
}

static double loss(const double *table, const uint8_t *items, const int *number, double *excess) {
    double sum = 0;
    for (int f = 0; f < FAMILIES; f++) {
        double bins = 0, bound = 0;
        for (int m = 0; m < number[f]; m++, items += length[f]) {
            int volume = 0;
            for (int i = 0; i < length[f]; i++) volume += items[i];
            bins += pack(table, items, length[f]);
            bound += (volume + CAPACITY - 1) / CAPACITY;
        }
        double value = 100 * (bins / bound - 1);
        if (excess) excess[f] = value;
        sum += weight[f] * value;
    }
    return sum;
}

static void save(const char *path, const double *table) {
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(table, sizeof *table, SIZE, file) != SIZE) exit(2);
    fclose(file);
}

int main(int argc, char **argv) {
    if (argc != 11) return 1;
    uint64_t state = strtoull(argv[3], 0, 10) * 7919 + 12345, check_state = 999;
    int generations = atoi(argv[4]);
    double sigma0 = atof(argv[5]), rate0 = atof(argv[6]), excess[FAMILIES];
    static double table[SIZE], mean[SIZE], noise[SIZE], trial[SIZE], slope[SIZE], first[SIZE], second[SIZE];
    for (int f = 0; f < FAMILIES; f++) weight[f] = atof(argv[7 + f]);
    for (int k = 0; k <= LONGEST; k++) crowd_of[k] = log1p(k);
    FILE *file = fopen(argv[2], "rb");
    if (file) {
        if (fread(table, sizeof *table, SIZE, file) != SIZE) return 1;
        fclose(file);
    } else {                                                    /* concave in the level: exactly best fit */
        for (int r = 0; r < LEVELS; r++) table[r] = sqrt(r / (double)CAPACITY);
    }
    memcpy(mean, table, sizeof mean);
    uint8_t *held = streams(&check_state, check);
    for (int g = 1; g <= generations; g++) {
        double done = g / (double)generations, sigma = sigma0 * (1 - 0.8 * done), rate = rate0 * (1 - 0.9 * done);
        uint8_t *items = streams(&state, batch);
        memset(slope, 0, sizeof slope);
        for (int p = 0; p < PAIRS; p++) {                       /* antithetic pairs on common streams */
            for (int i = 0; i < SIZE; i++) noise[i] = normal(&state);
            for (int i = 0; i < SIZE; i++) trial[i] = table[i] + sigma * noise[i];
            double difference = loss(trial, items, batch, 0);
            for (int i = 0; i < SIZE; i++) trial[i] = table[i] - sigma * noise[i];
            difference -= loss(trial, items, batch, 0);
            for (int i = 0; i < SIZE; i++) slope[i] += difference / (2 * sigma * PAIRS) * noise[i];
        }
        free(items);
        for (int i = 0; i < SIZE; i++) {                        /* Adam */
            first[i] = 0.9 * first[i] + 0.1 * slope[i];
            second[i] = 0.99 * second[i] + 0.01 * slope[i] * slope[i];
            table[i] -= rate * first[i] / (1 - pow(0.9, g)) / (sqrt(second[i] / (1 - pow(0.99, g))) + 1e-9);
            mean[i] += 0.02 * (table[i] - mean[i]);
        }
        if (g % 500 == 0 || g == generations) {
            loss(mean, held, check, excess);
            printf("generation %d: %.3f %.3f %.3f %.3f\n", g, excess[0], excess[1], excess[2], excess[3]);
            fflush(stdout);
            save(argv[1], mean);
        }
    }
    return 0;
}
