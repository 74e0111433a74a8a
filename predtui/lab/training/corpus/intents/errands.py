"""What reminders and lists are about: things to buy and things to do.

Some are fixed phrases, more are composed of parts, and a few words are invented: who asks names things that no table
holds, so the reply must be copied from the request, not remembered.
"""

from __future__ import annotations

import random


def _table(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.replace("\n", " ").split(";"))


THINGS = _table("""
milk; bread; butter; eggs; cheese; yogurt; cream; flour; sugar; salt; pepper; rice; pasta; noodles; oats;
cereal; honey; jam; peanut butter; olive oil; vinegar; mustard; ketchup; mayonnaise; soy sauce; tomatoes;
potatoes; onions; garlic; carrots; celery; cucumbers; lettuce; spinach; cabbage; broccoli; cauliflower; peppers;
mushrooms; zucchini; eggplant; corn; peas; beans; lentils; chickpeas; apples; bananas; oranges; lemons; limes;
pears; peaches; plums; grapes; cherries; strawberries; raspberries; blueberries; melons; pineapple; mangoes;
kiwis; avocados; dates; raisins; almonds; walnuts; cashews; chicken; beef; pork; ham; bacon; sausages; turkey;
lamb; salmon; tuna; shrimp; cod; tofu; hummus; olives; pickles; chips; crackers; cookies; chocolate; candy;
cake; ice cream; popcorn; tea; coffee; juice; apple juice; orange juice; water; sparkling water; lemonade; beer;
wine; cocoa; cinnamon; vanilla; baking powder; yeast; basil; parsley; mint; thyme; ginger; toilet paper; paper
towels; tissues; napkins; soap; hand soap; shampoo; conditioner; toothpaste; a toothbrush; dental floss;
deodorant; sunscreen; lotion; razors; shaving foam; cotton pads; bandages; aspirin; vitamins; cough drops; dish
soap; laundry detergent; bleach; sponges; trash bags; foil; baking paper; freezer bags; candles; matches; a
lighter; batteries; light bulbs; an extension cord; tape; glue; scissors; pens; pencils; an eraser; notebooks;
envelopes; stamps; printer paper; ink; a folder; a stapler; a birthday card; wrapping paper; a gift; balloons;
flowers; a vase; potting soil; seeds; a rake; a hose; gloves; a broom; a mop; a bucket; a hammer; nails; screws;
a screwdriver; paint; a brush; a ladder; a doormat; towels; sheets; a pillow; a blanket; socks; a belt; a hat; a
scarf; an umbrella; a raincoat; sandals; slippers; shoelaces; cat food; dog food; bird seed; fish food; cat
litter; a leash; diapers; baby wipes; baby food; a bib; crayons; a puzzle; a ball; a kite; a board game; a
magazine; a newspaper; a phone charger; headphones; a mouse; a keyboard; a memory card
""")

TASKS = _table("""
call mom; call dad; call grandma; call the doctor; call the dentist; call the bank; call the plumber; call the
school; email the teacher; email the boss; write to Anna; text Peter; answer Maria; thank Tom; visit Lisa; meet
Paul; invite Sarah; water the plants; feed the cat; feed the dog; feed the fish; walk the dog; brush the cat;
clean the cage; mow the lawn; rake the leaves; weed the garden; pick the tomatoes; trim the hedge; wash the car;
check the tires; fill the tank; charge the phone; charge the laptop; back up the photos; update the computer;
restart the router; print the tickets; print the report; finish the report; read the report; send the invoice;
pay the rent; pay the bills; pay the electric bill; pay the water bill; check the mail; mail the letter; pick up
the package; return the package; return the books; renew the passport; renew the license; book the flight; book
a table; book a hotel; pack the bags; buy the tickets; check the weather; take out the trash; take out the
recycling; do the laundry; fold the laundry; hang up the laundry; iron the shirts; do the dishes; empty the
dishwasher; clean the kitchen; clean the bathroom; clean the windows; sweep the floor; mop the floor; vacuum the
carpet; dust the shelves; make the bed; change the sheets; tidy the garage; fix the bike; fix the lamp; change
the light bulb; change the filter; test the smoke alarm; lock the door; close the windows; turn off the oven;
turn off the lights; turn on the heating; start the dishwasher; preheat the oven; bake a cake; bake the bread;
cook dinner; cook the rice; make lunch; make coffee; pack the lunch; defrost the chicken; boil the eggs; check
the oven; stir the soup; take the pills; take the medicine; take a break; drink water; stretch; go for a walk;
go for a run; go to the gym; go to bed; get up; do yoga; meditate; practice the piano; practice the guitar;
study math; study Spanish; learn the poem; do the homework; check the homework; read a book; read a story; write
the essay; write the diary; plan the party; plan the trip; order pizza; order the cake; wrap the gift; sign the
form; fill in the form; scan the letter; file the taxes; join the meeting; start the meeting; prepare the
slides; review the slides; pick up the kids; pick up the laundry; drop off the kids; take the bus; catch the
train; leave the house; move the car; watch the game; watch the news; record the show; listen to the concert;
set the table; light the candles; shut the gate; cancel the order; cancel the subscription; check the bank
account; save the file; clear the desk; sort the papers; empty the trash; cut the grass; paint the fence;
sharpen the knives; polish the shoes; sew the button; knit the scarf
""")

_PLAIN = 0.4
"""Share of the errands that are fixed phrases."""
_INVENTED = 0.12
"""Share of the composed nouns that are no words at all."""
_FOR_SOMEBODY = 0.15
_STRANGE = 0.25
"""Share of invented ones among single words."""

_KINDS = _table("""
red; green; blue; white; black; yellow; brown; grey; pink; fresh; frozen; dried; organic; cheap; large; small;
big; tiny; long; short; sweet; sour; spicy; salted; plain; dark; light; soft; hard; thick; thin; round; flat;
old; new; spare; warm; cold; wooden; plastic; metal; glass; cotton; wool; leather; local; ripe; sliced; whole;
ground; mild; strong; best; good; extra; simple; heavy; clean
""")
_MEASURES = _table("""
a bag of; a box of; a pack of; a jar of; a bottle of; a can of; a bunch of; a pair of; a piece of; a basket of;
some; more; a few; enough; a lot of; plenty of; the usual; the
""")
_GOODS = _table("""
quinoa; oat milk; figs; kale; leeks; turnips; radishes; beets; pumpkins; squash; rhubarb; apricots; papayas;
guavas; lychees; currants; hazelnuts; pecans; pistachios; sesame; couscous; bulgur; barley; polenta; tortillas;
bagels; muffins; pretzels; waffles; pancakes; syrup; molasses; marmalade; nutmeg; cumin; paprika; curry;
turmeric; saffron; rosemary; oregano; sage; dill; chives; cardamom; cloves; trout; mackerel; sardines;
anchovies; crab; lobster; mussels; oysters; duck; veal; venison; salami; ribs; steaks; meatballs; dumplings;
ravioli; lasagna; gnocchi; wraps; soup; broth; gravy; salsa; pesto; wasabi; kimchi; tempeh; miso; seaweed;
buttons; needles; thread; yarn; fabric; ribbons; zippers; hooks; hinges; bolts; washers; pipes; wires; cables;
plugs; fuses; bulbs; filters; sandpaper; varnish; brushes; rollers; buckets; pots; pans; lids; plates; bowls;
cups; mugs; spoons; forks; knives; trays; jars; bottles; corks; baskets; hangers; rugs; curtains; cushions;
lamps; frames; mirrors; clocks; shelves; boxes; labels; folders; markers; chalk; rulers; stickers; cards; dice;
puzzles; marbles; dolls; kites; drums; strings; picks; reeds; helmets; skates; rackets; balls; nets; ropes;
tents; stoves; maps; boots; coats; jackets; shirts; skirts; jeans; shorts; vests; ties; caps; mittens; earrings;
watches; wallets; bags; cases; straps; collars; cages; perches; hay; straw; bait; worms; mulch; compost; shrubs;
roses; tulips; lilies; ferns; moss; gravel; sand; bricks; tiles; cement; planks; beams; posts; fences; gates
""")
_VERBS = _table("""
buy; bring; find; fix; paint; sell; send; move; order; check; clean; wash; carry; store; count; pack; wrap;
open; close; return; borrow; collect; deliver; hide; hang; label; measure; mend; mix; sort; stack; copy;
photograph; compare; replace; remove; repair; inspect; prepare; water; feed; weigh; polish; scrub; shake;
sharpen; shorten; draw; design; describe; discuss; download; upload; print; scan; sign; stamp; fold; cut; glue;
sand; drill; screw; oil; charge; unplug; test
""")
_OBJECTS = _table("""
boat; bike; door; desk; chair; table; sofa; shelf; oven; fridge; kettle; toaster; blender; radio; tablet;
laptop; camera; printer; scanner; speaker; drone; engine; wheel; mirror; window; roof; wall; stairs; cellar;
attic; balcony; garden; pond; pool; shed; barn; garage; driveway; mailbox; bench; swing; ladder; wagon; trailer;
tractor; mower; saw; wrench; toolbox; drawer; closet; suitcase; backpack; wallet; ticket; passport; letter;
parcel; invoice; contract; budget; calendar; diary; album; painting; poster; statue; guitar; violin; flute;
trumpet; drum; piano; costume; dress; suit; tie; jacket; coat; helmet; tent; canoe; kayak; sled; surfboard;
skateboard; telescope; microscope; aquarium; terrarium; birdhouse; doghouse; beehive; greenhouse; compost;
hedge; lawn; tree; stump; flowerbed; fountain; lantern; candle; fireplace; chimney; gutter; antenna; alarm;
lock; key; safe; rug; carpet; curtain; mattress; cradle; stroller; playpen; schedule; speech; lecture; seminar;
survey; chapter; poem; song; recipe; menu
""")
_NAMES = _table("""
Anna; Peter; Maria; Tom; Lisa; Paul; Sarah; Ben; Clara; David; Emma; Frank; Grace; Henry; Ida; Jack; Karl; Laura
""")
_ONSETS = _table("""
b; c; d; f; g; h; j; k; l; m; n; p; r; s; t; v; w; z; br; cl; dr; fl; gr; pl; qu; sh; sl; sp; st; th; tr
""")
_VOWELS = _table("""
a; e; i; o; u; a; e; i; o; u; ai; ee; oa; ou
""")
_CODAS = _table("""
b; d; g; k; l; m; n; p; r; s; t; x; ck; nd; rt; sh
""")

_WORDS = tuple(
    word
    for table in (THINGS, TASKS, _KINDS, _GOODS, _VERBS, _OBJECTS, _NAMES)
    for phrase in table
    for word in phrase.split()
)


def _invented(rng: random.Random) -> str:
    syllables = rng.randint(1, 3)
    return "".join(rng.choice(_ONSETS) + rng.choice(_VOWELS) for _ in range(syllables)) + (
        rng.choice(_CODAS) if rng.random() < 0.7 else ""
    )


def _noun(known: tuple[str, ...], rng: random.Random) -> str:
    return _invented(rng) if rng.random() < _INVENTED else rng.choice(known)


def _somebody(rng: random.Random) -> str:
    return f" for {rng.choice(_NAMES)}" if rng.random() < _FOR_SOMEBODY else ""


def word(rng: random.Random) -> str:
    """A single word out of all of them, or an invented one."""
    return _invented(rng) if rng.random() < _STRANGE else rng.choice(_WORDS)


def thing(rng: random.Random) -> str:
    """Something to buy or to pack."""
    if rng.random() < _PLAIN:
        return rng.choice(THINGS)
    parts = [rng.choice(_MEASURES)] if rng.random() < 0.4 else []
    parts += [rng.choice(_KINDS)] if rng.random() < 0.5 else []
    return " ".join((*parts, _noun(_GOODS, rng))) + _somebody(rng)


def task(rng: random.Random) -> str:
    """Something to do."""
    if rng.random() < _PLAIN:
        return rng.choice(TASKS)
    kind = [rng.choice(_KINDS)] if rng.random() < 0.3 else []
    return " ".join((rng.choice(_VERBS), rng.choice(("the", "my", "the")), *kind, _noun(_OBJECTS, rng))) + _somebody(
        rng
    )
